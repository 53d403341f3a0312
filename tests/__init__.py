"""The tests of sluice: unit/ in C, e2e/ drives the real program, services/ are the real servers both talk to."""
