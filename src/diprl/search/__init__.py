"""Better and shorter programs, judged by their true return: polish the numbers, simplify the form."""
