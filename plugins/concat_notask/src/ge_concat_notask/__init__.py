"""Runs Concat, Pack and Split without a task by planning their tensors in place."""
