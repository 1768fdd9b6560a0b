"""Stories: the documents that tell of one happening."""
