package io.kamille.admin.api;

import io.kamille.core.http.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The files of the browser UI: what is not listed here is not served. */
final class UiFiles {

  /*
   * Scripts and styles come from this origin alone, and no script can make markup of text (Trusted
   * Types). No other site may frame the page.
   */
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'; trusted-types 'none'";
  private static final String DIRECTORY = "/io/kamille/admin/ui/";
  private static final List<String> NAMES =
      List.of(
          "icon.svg",
          "kamille.css",
          "app.js",
          "api.js",
          "dom.js",
          "chart.js",
          "changes.js",
          "explanation.js",
          "path.js",
          "warm.js",
          "whatif.js",
          "overview.js",
          "traffic.js",
          "cache.js",
          "origins.js",
          "engine.js",
          "connections.js",
          "cluster.js",
          "certificates.js",
          "configuration.js",
          "audit.js",
          "settings.js");

  private UiFiles() {}

  static List<Operation> all() {
    List<Operation> files = new ArrayList<>();
    files.add(file("/", "index.html"));
    NAMES.forEach(name -> files.add(file("/ui/" + name, name)));
    return files;
  }

  private static Operation file(String path, String name) {
    String mediaType = mediaType(name);
    Answer file =
        new Answer(
            StatusCode.OK,
            mediaType,
            content(name),
            Map.of(
                "Content-Security-Policy", POLICY,
                "Referrer-Policy", "no-referrer",
                "Cross-Origin-Opener-Policy", "same-origin"));
    return Operation.open(path, "A file of the browser UI.")
        .answersAs(mediaType)
        .immediately()
        .by(() -> file);
  }

  private static byte[] content(String name) {
    try (InputStream in = UiFiles.class.getResourceAsStream(DIRECTORY + name)) {
      return Objects.requireNonNull(in, name).readAllBytes();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static String mediaType(String name) {
    return switch (name.substring(name.lastIndexOf('.'))) {
      case ".html" -> "text/html; charset=utf-8";
      case ".css" -> "text/css; charset=utf-8";
      case ".js" -> "text/javascript; charset=utf-8";
      default -> "image/svg+xml";
    };
  }
}
