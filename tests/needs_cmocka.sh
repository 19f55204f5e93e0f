# Stands for the unit tests where configure found no cmocka.
echo "Bail out! the unit tests need cmocka (Debian: libcmocka-dev)"
