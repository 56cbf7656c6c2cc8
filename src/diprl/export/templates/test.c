    if ($test) {
        flags |= $flag;
    }
