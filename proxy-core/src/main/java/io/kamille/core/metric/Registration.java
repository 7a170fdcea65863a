package io.kamille.core.metric;

/** The right to be asked for a value; closing it ends the asking. Any thread. */
public interface Registration extends AutoCloseable {

  @Override
  void close();
}
