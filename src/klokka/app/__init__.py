"""What a user holds: `klokka.Klokka` and the functions that it decorates."""
