"""What keeps the documentation true: generators, and a runner for its snippets."""
