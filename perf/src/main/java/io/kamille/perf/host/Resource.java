package io.kamille.perf.host;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Texts that lie beside a class: configurations, scripts, prose. */
public final class Resource {

  private Resource() {}

  /** The text of that name beside that class. */
  public static String text(Class<?> beside, String name) {
    try (InputStream text = beside.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(text, name).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
