"""The `ge` command line: parsing and rendering; all logic lives in the session."""
