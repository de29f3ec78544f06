"""The HTTP interface and the web pages: questions over the stored deployments."""
