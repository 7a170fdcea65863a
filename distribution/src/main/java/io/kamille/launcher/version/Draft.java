package io.kamille.launcher.version;

import java.time.Instant;

/**
 * A change of the configuration that somebody proposes.
 *
 * @param id counts from 1
 * @param base the version that it is a change of
 * @param by who proposes it
 * @param comment empty for none
 */
record Draft(int id, int base, Instant time, String by, String comment) {}
