"""How parties talk: framed messages over mutual TLS 1.3, or in one process."""
