"""Tests that drive the real program, and tests of the stand-ins themselves."""
