"""A training loop without the platform."""

import logging
import time


def main(increment_by):
    x = 0
    for _ in range(20):
        x += increment_by
        time.sleep(0.01)
        logging.info("x is now %s", x)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    main(increment_by=1)
