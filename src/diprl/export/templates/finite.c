    int index;

    for (index = 0; index < ${NAME}_FEATURES; index++) {
        if (isfinite(features[index]) == 0) {
            flags |= ${NAME}_NOT_FINITE;
        }
    }
