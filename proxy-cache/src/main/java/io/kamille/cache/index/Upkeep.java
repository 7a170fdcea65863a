package io.kamille.cache.index;

/** Who brings the order of an index up to date, and when. Any thread. */
interface Upkeep {

  /** There is something to do, soon. Waits for nobody. */
  void ask();

  /** There is something to do now. Waits for nobody. */
  void hurry();

  /** How often doing it has failed, since the start. */
  long failures();

  /** Nothing is done any more once this returns: what is under way ends first. */
  void close();
}
