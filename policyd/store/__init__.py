"""The database: deployments as stored, versioned facts, and the questions that need an index."""
