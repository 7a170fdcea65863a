package io.kamille.core.setting;

import org.jspecify.annotations.Nullable;

/**
 * A component of a settings record that no file sets: it has one value until somebody else gives it
 * another.
 */
public record FixedComponent(@Nullable Object value) implements Row {}
