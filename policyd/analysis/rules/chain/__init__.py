"""Rules on tool middleware in manifests."""
