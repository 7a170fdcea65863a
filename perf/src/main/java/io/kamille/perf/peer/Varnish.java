package io.kamille.perf.peer;

import io.kamille.perf.host.Programs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Varnish with its built-in rules, or passing everything where nothing is to be stored. */
public record Varnish() implements Peer {

  private static final String CONFIGURATION =
      """
      vcl 4.1;
      backend origin {
        .host = "127.0.0.1";
        .port = "%ORIGIN%";
      }
      """;

  private static final String PASS =
      """
      sub vcl_recv {
        return (pass);
      }
      """;

  /** It stores gzip alone, and expands it for clients that do not take it. */
  private static final String CODED =
      """
      sub vcl_backend_response {
        set beresp.do_gzip = true;
      }
      """;

  @Override
  public String name() {
    return "varnish";
  }

  @Override
  public @Nullable String missing() {
    if (Programs.find("varnishd") == null) {
      return "varnish is not installed; install it with: apt-get install varnish";
    }
    return Programs.find("gcc") == null && Programs.find("cc") == null
        ? "varnish needs a C compiler for its rules; install one with: apt-get install gcc"
        : null;
  }

  @Override
  public String executable() {
    return "varnishd";
  }

  @Override
  public String versionOption() {
    return "-V";
  }

  @Override
  public List<String> prepare(Path directory, Place place) throws IOException {
    String text =
        switch (place.job()) {
          case HIT, COLLAPSE, DISK, MIX -> CONFIGURATION;
          case PASS -> CONFIGURATION + PASS;
          case CODED -> CONFIGURATION + CODED;
        };
    Path file = Template.write(directory.resolve("rules.vcl"), text, place);
    return List.of(
        path(),
        "-F",
        "-j",
        "none",
        "-n",
        directory.resolve("work").toString(),
        "-f",
        file.toString(),
        "-a",
        place.address() + ":" + place.port(),
        "-T",
        "none",
        "-s",
        "malloc," + place.job().storeMib() + "m",
        "-p",
        "thread_pools=1",
        "-p",
        "timeout_idle=3600");
  }
}
