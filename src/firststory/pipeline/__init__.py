"""The assembly: window, step, runner."""
