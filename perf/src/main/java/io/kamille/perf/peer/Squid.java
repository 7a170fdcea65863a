package io.kamille.perf.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Squid as an accelerator with its cache in memory, or with nothing stored. */
public record Squid() implements Peer {

  /*
   * In one process (-N) it shares no memory: collapsed_forwarding would make files in /dev/shm
   * whose names are the same for every Squid of the machine, so it stays off, as it is by default.
   */
  private static final String CONFIGURATION =
      """
      http_port %ADDRESS%:%PORT% accel defaultsite=127.0.0.1:%PORT% no-vhost
      cache_peer 127.0.0.1 parent %ORIGIN% 0 no-query no-digest no-netdb-exchange originserver
      http_access allow all
      cache_mem %MIB% MB
      maximum_object_size_in_memory 16 MB
      memory_cache_shared off
      workers 1
      access_log none
      cache_log /dev/null
      cache_store_log none
      pid_filename none
      netdb_filename none
      coredump_dir none
      pinger_enable off
      visible_hostname kamille-bench
      shutdown_lifetime 0 seconds
      client_idle_pconn_timeout 1 hour
      server_idle_pconn_timeout 1 hour
      max_filedescriptors %DESCRIPTORS%
      """;

  private static final String PASS = "cache deny all\n";
  private static final int DESCRIPTORS_PER_CONNECTION = 2;
  private static final int SPARE_DESCRIPTORS = 1024;

  @Override
  public String name() {
    return "squid";
  }

  @Override
  public List<String> prepare(Path directory, Place place) throws IOException {
    int descriptors = place.connections() * DESCRIPTORS_PER_CONNECTION + SPARE_DESCRIPTORS;
    String text =
        (CONFIGURATION + (place.job().isStoring() ? "" : PASS))
            .replace("%DESCRIPTORS%", Integer.toString(descriptors));
    Path file = Template.write(directory.resolve("squid.conf"), text, place);
    return List.of(path(), "-N", "-f", file.toString());
  }
}
