"""What the tests of the room look at."""

SOURCE = "The animal didn't cross the street because it was too tired."
TARGET = "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."
LAYERS, HEADS = 3, 4
