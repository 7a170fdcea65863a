package io.kamille.perf.peer;

import io.kamille.perf.host.Programs;
import io.kamille.perf.host.Resource;
import io.kamille.perf.load.FixedContent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The other servers, by the names of their Debian packages. */
public enum Daemon implements Peer {
  /*
   * The configurations are templates beside this class (Template), such as nginx.conf. What is not
   * said is as the manual has it.
   */

  /**
   * nginx with {@code proxy_cache}. Small objects are read and written, larger ones go by sendfile:
   * each as it is cheaper. {@code open_file_cache} saves an open() for each hit. A date of
   * If-Modified-Since counts as RFC 9110 §13.1.3 has it. It compresses each answer anew.
   */
  NGINX("nginx", "nginx-light", "-v", "-p %DIRECTORY% -c %FILE%"),

  /** HAProxy with its cache in memory. It does not store what it has compressed. */
  HAPROXY("haproxy", "haproxy", "-v", "-db -f %FILE%"),

  /** Varnish with its built-in rules. It stores gzip alone, and expands it for the others. */
  VARNISH(
      "varnishd",
      "varnish",
      "-V",
      "-F -j none -n %DIRECTORY%/work -f %FILE% -a %ADDRESS%:%PORT% -T none -s malloc,%MIB%m"
          + " -p thread_pools=1 -p timeout_idle=3600") {
    @Override
    public @Nullable String missing() {
      return super.missing() == null && Programs.find("cc") == null
          ? "varnish needs a C compiler for its rules; install one with: apt-get install gcc"
          : super.missing();
    }
  },

  /**
   * Apache httpd with the event MPM and {@code mod_cache_disk}, the store of responses in its
   * manual's caching guide. It does not serve as root: its worker becomes nobody.
   */
  APACHE("apache2", "apache2", "-v", "-D FOREGROUND -f %FILE%"),

  /** h2o, which has no cache for what it proxies: it serves the objects from files. */
  H2O("h2o", "h2o", "-v", "-c %FILE%");

  private final String executable;
  private final String debianPackage;
  private final String versionOption;
  private final String arguments;

  Daemon(String executable, String debianPackage, String versionOption, String arguments) {
    this.executable = executable;
    this.debianPackage = debianPackage;
    this.versionOption = versionOption;
    this.arguments = arguments;
  }

  /** The one of that label. */
  public static Daemon named(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }

  /** All labels. */
  public static List<String> labels() {
    return Arrays.stream(values()).map(Daemon::label).toList();
  }

  @Override
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  @Override
  public @Nullable String missing() {
    return Programs.find(executable) == null
        ? label() + " is not installed; install it with: apt-get install " + debianPackage
        : null;
  }

  @Override
  public String version() {
    return Programs.firstLine(List.of(path(), versionOption));
  }

  private String path() {
    return String.valueOf(Programs.find(executable));
  }

  @Override
  public List<String> prepare(Path directory, Place place) throws IOException {
    Path store = Files.createDirectories(directory.resolve("store"));
    Files.setPosixFilePermissions(store, PosixFilePermissions.fromString("rwxrwxrwx"));
    if (this == H2O) {
      Files.createDirectories(store.resolve("hit"));
      for (int size : new int[] {1 << 10, 16 << 10, 1 << 20}) {
        Files.write(store.resolve("hit/" + size), FixedContent.octets(size));
      }
    }
    Path file =
        Template.write(
            directory.resolve(label() + ".conf"),
            Resource.text(Template.class, label() + ".conf"),
            place);
    var words = new ArrayList<>(List.of(path()));
    words.addAll(List.of(Template.fill(arguments, file, place).split(" ", -1)));
    return words;
  }
}
