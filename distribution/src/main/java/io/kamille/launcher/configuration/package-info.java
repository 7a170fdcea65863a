/**
 * The product's settings: each record holds the declarations it is read from, and {@link
 * io.kamille.launcher.configuration.ConfigurationFile} reads them all from one file.
 */
@NullMarked
package io.kamille.launcher.configuration;

import org.jspecify.annotations.NullMarked;
