"""Operations on an archive: importing, following, recording, verifying, rebuilding, merging, erasing."""
