"""What public calls say to wrong arguments."""
