"""What must hold of a release, one file each, checked without the code of any method."""
