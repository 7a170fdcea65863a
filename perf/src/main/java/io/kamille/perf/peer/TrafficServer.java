package io.kamille.perf.peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Apache Traffic Server with its cache in memory, or with nothing stored. */
public record TrafficServer() implements Peer {

  /*
   * Its memory is a cache of its disk: there must be a file for it, twice as large, so that what is
   * answered from memory is never gone from the disk. What is stored goes to memory at once
   * (use_seen_filter 0). A runroot keeps all its files in our directory.
   */
  private static final String RECORDS =
      """
      CONFIG proxy.config.http.server_ports STRING %PORT%:ip-in=%ADDRESS%
      CONFIG proxy.config.exec_thread.autoconfig INT 0
      CONFIG proxy.config.exec_thread.limit INT 1
      CONFIG proxy.config.exec_thread.affinity INT 0
      CONFIG proxy.config.accept_threads INT 0
      CONFIG proxy.config.task_threads INT 1
      CONFIG proxy.config.cache.threads_per_disk INT 1
      CONFIG proxy.config.net.listen_backlog INT 1024
      CONFIG proxy.config.net.connections_throttle INT %THROTTLE%
      CONFIG proxy.config.http.keep_alive_no_activity_timeout_in INT 3600
      CONFIG proxy.config.http.keep_alive_no_activity_timeout_out INT 3600
      CONFIG proxy.config.http.cache.http INT %CACHE%
      CONFIG proxy.config.cache.ram_cache.size INT %MIB%M
      CONFIG proxy.config.cache.ram_cache_cutoff INT 16M
      CONFIG proxy.config.cache.ram_cache.use_seen_filter INT 0
      CONFIG proxy.config.url_remap.pristine_host_hdr INT 1
      CONFIG proxy.config.log.logging_enabled INT 0
      CONFIG proxy.config.diags.logfile.filename STRING stderr
      CONFIG proxy.config.admin.user_id STRING #-1
      CONFIG proxy.config.crash_log_helper STRING NULL
      """;

  private static final String RUNROOT =
      """
      prefix: %DIRECTORY%
      exec_prefix: %DIRECTORY%
      bindir: /usr/bin
      sbindir: /usr/sbin
      sysconfdir: %DIRECTORY%
      datadir: %DIRECTORY%
      includedir: %DIRECTORY%
      libdir: /usr/lib/trafficserver
      libexecdir: /usr/lib/trafficserver/modules
      localstatedir: %DIRECTORY%
      runtimedir: %DIRECTORY%
      logdir: %DIRECTORY%
      cachedir: %DIRECTORY%
      """;

  private static final String ALLOWED =
      """
      ip_allow:
        - apply: in
          ip_addrs: 0/0
          action: allow
          methods: ALL
      """;

  private static final String REMAP = "map / http://127.0.0.1:%ORIGIN%/\n";

  /** Connections of both sides, and what it keeps for itself. */
  private static final int SPARE_CONNECTIONS = 1024;

  @Override
  public String name() {
    return "trafficserver";
  }

  @Override
  public String executable() {
    return "traffic_server";
  }

  @Override
  public String versionOption() {
    return "--version";
  }

  @Override
  public List<String> prepare(Path directory, Place place) throws IOException {
    String records =
        RECORDS
            .replace("%CACHE%", place.job().isStoring() ? "1" : "0")
            .replace("%THROTTLE%", Integer.toString(2 * place.connections() + SPARE_CONNECTIONS));
    Path store = Files.createDirectories(directory.resolve("store"));
    Template.write(directory.resolve("records.config"), records, place);
    Template.write(directory.resolve("runroot.yaml"), RUNROOT, place);
    Template.write(directory.resolve("ip_allow.yaml"), ALLOWED, place);
    Template.write(directory.resolve("remap.config"), REMAP, place);
    Template.write(
        directory.resolve("storage.config"),
        store + " " + 2 * place.job().storeMib() + "M\n",
        place);
    return List.of(path(), "--run-root=" + directory);
  }
}
