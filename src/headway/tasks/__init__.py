"""Whole tasks, joined from the rooms: what the commands do, without their flags and their printing."""
