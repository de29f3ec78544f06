"""A language server for manifests and policy tests: the use cases, as an editor asks for them."""
