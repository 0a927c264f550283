"""How a joined table is made: one file a method."""
