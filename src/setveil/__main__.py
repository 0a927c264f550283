"""`python -m setveil`."""

from setveil.cli.main import main

if __name__ == "__main__":
    main()
