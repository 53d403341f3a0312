"""How fast sluice is beside what one would use without it: ratios, both sides measured in the same run."""
