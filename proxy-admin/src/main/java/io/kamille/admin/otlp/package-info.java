/** Traces for a collector, by OTLP over HTTP. */
@NullMarked
package io.kamille.admin.otlp;

import org.jspecify.annotations.NullMarked;
