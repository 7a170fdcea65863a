package io.kamille.perf.peer;

import io.kamille.perf.host.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Apache httpd with the event MPM and {@code mod_cache_disk}, or as a plain proxy. */
public record Apache() implements Peer {

  /*
   * The manual's caching guide gives mod_cache_disk as the store of responses (shared objects are
   * for low-level data such as TLS sessions); its files are in the page cache once warmed. Nothing
   * bounds them but htcacheclean, which is a program of its own and does not run here. One process;
   * a thread for each request under way is how this MPM works.
   */
  private static final String CONFIGURATION =
      """
      ServerRoot %DIRECTORY%
      DefaultRuntimeDir %DIRECTORY%
      ServerName kamille-bench
      PidFile %DIRECTORY%/apache.pid
      ErrorLog /dev/stderr
      LogLevel crit
      Listen %ADDRESS%:%PORT%
      ListenBacklog 1024
      LoadModule mpm_event_module %MODULES%/mod_mpm_event.so
      LoadModule authz_core_module %MODULES%/mod_authz_core.so
      LoadModule proxy_module %MODULES%/mod_proxy.so
      LoadModule proxy_http_module %MODULES%/mod_proxy_http.so
      LoadModule cache_module %MODULES%/mod_cache.so
      LoadModule cache_disk_module %MODULES%/mod_cache_disk.so
      ServerLimit 1
      StartServers 1
      ThreadLimit %THREADS%
      ThreadsPerChild %THREADS%
      MaxRequestWorkers %THREADS%
      MinSpareThreads 1
      MaxSpareThreads %THREADS%
      MaxConnectionsPerChild 0
      AsyncRequestWorkerFactor 100
      KeepAlive On
      KeepAliveTimeout 3600
      MaxKeepAliveRequests 0
      ProxyPreserveHost On
      ProxyPass / http://127.0.0.1:%ORIGIN%/
      """;

  private static final String STORE =
      """
      CacheRoot %DIRECTORY%/store
      CacheEnable disk /
      CacheMaxFileSize 16777216
      """;

  /** It does not serve as root: its worker becomes nobody, who must reach the store. */
  private static final String USER =
      """
      User #65534
      Group #65534
      """;

  private static final Path MODULES = Path.of("/usr/lib/apache2/modules");
  private static final int THREADS_LIMIT = 1000;

  @Override
  public String name() {
    return "apache";
  }

  @Override
  public @Nullable String missing() {
    return Programs.find(executable()) == null || !Files.isDirectory(MODULES)
        ? "apache is not installed; install it with: apt-get install apache2"
        : null;
  }

  @Override
  public String executable() {
    return "apache2";
  }

  @Override
  public List<String> prepare(Path directory, Place place) throws IOException {
    Path store = Files.createDirectories(directory.resolve("store"));
    Files.setPosixFilePermissions(store, PosixFilePermissions.fromString("rwxrwxrwx"));
    String text =
        ((Template.isRoot() ? USER : "") + CONFIGURATION + (place.job().isStoring() ? STORE : ""))
            .replace("%MODULES%", MODULES.toString())
            .replace("%THREADS%", threads(place.connections()));
    Path file = Template.write(directory.resolve("apache.conf"), text, place);
    return List.of(path(), "-D", "FOREGROUND", "-f", file.toString());
  }

  private static String threads(int connections) {
    return String.format(Locale.ROOT, "%d", Math.min(THREADS_LIMIT, Math.max(64, connections)));
  }
}
