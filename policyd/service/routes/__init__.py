"""One module per kind of question; each route parses, calls one use case and shapes the answer."""
