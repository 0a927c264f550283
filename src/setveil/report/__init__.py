"""Pages for people, made from a dossier, which is plain data; nothing is computed here."""
