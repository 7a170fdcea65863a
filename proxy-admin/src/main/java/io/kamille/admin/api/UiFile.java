package io.kamille.admin.api;

import io.kamille.core.http.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** One file of the browser UI, by its name: what is not listed here is not served. */
final class UiFile implements Resource {

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
          "whatif.js",
          "overview.js",
          "traffic.js",
          "cache.js",
          "origins.js",
          "engine.js",
          "connections.js",
          "configuration.js",
          "reports.js",
          "audit.js",
          "settings.js");

  private final String path;
  private final String mediaType;
  private final byte[] content;

  private UiFile(String path, String name) {
    this.path = path;
    this.mediaType = mediaType(name);
    try (InputStream in = UiFile.class.getResourceAsStream(DIRECTORY + name)) {
      if (in == null) {
        throw new IllegalStateException(DIRECTORY + name + " is missing");
      }
      this.content = in.readAllBytes();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** All files. */
  static List<Resource> all() {
    List<Resource> files = new ArrayList<>();
    files.add(new UiFile("/", "index.html"));
    NAMES.forEach(name -> files.add(new UiFile("/ui/" + name, name)));
    return files;
  }

  private static String mediaType(String name) {
    return switch (name.substring(name.lastIndexOf('.'))) {
      case ".html" -> "text/html; charset=utf-8";
      case ".css" -> "text/css; charset=utf-8";
      case ".js" -> "text/javascript; charset=utf-8";
      default -> "image/svg+xml";
    };
  }

  @Override
  public Operation operation() {
    return Operation.open(path, "A file of the browser UI.").answersAs(mediaType).immediately();
  }

  @Override
  public Answer answer(AdminRequest request) {
    return new Answer(
        StatusCode.OK,
        mediaType,
        content,
        Map.of(
            "Content-Security-Policy", POLICY,
            "Referrer-Policy", "no-referrer",
            "Cross-Origin-Opener-Policy", "same-origin"));
  }
}
