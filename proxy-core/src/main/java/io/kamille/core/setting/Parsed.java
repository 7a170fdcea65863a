package io.kamille.core.setting;

/** What came of reading a text as a value: the value, or what was expected instead. */
public sealed interface Parsed<T> {

  /** The text was a value. */
  record Value<T>(T value) implements Parsed<T> {}

  /** It was not. */
  record Refused<T>(String expected) implements Parsed<T> {}
}
