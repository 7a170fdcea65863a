package io.kamille.launcher.version;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One text of the configuration that was put in force.
 *
 * @param number counts from 1, without an end
 * @param by who put it in force, or {@code file} if the file said so
 * @param comment empty for none
 * @param base the version that ran before; null for the first
 */
public record ConfigVersion(
    int number, Instant time, String by, String comment, @Nullable Integer base) {}
