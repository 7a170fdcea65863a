package io.kamille.core.setting;

/**
 * A settings record inside another one whose settings stand in the file beside the other's.
 *
 * @param <R> the record
 */
public record InlinedSection<R>(Section<R> section) implements Row {}
