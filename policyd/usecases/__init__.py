"""Questions and tasks, end to end: what the command line, the service and the page all call."""
