"""What leaves: making a release, writing it, opening and checking it again."""
