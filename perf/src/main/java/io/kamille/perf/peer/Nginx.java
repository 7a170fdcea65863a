package io.kamille.perf.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** nginx with {@code proxy_cache}, or as a plain proxy where nothing is to be stored. */
public record Nginx() implements Peer {

  /*
   * Small objects are read and written, larger ones go by sendfile: each as it is cheaper.
   * open_file_cache saves an open() for each hit. The files are in the page cache once warmed. A
   * date of If-Modified-Since counts as RFC 9110 §13.1.3 has it; by default nginx wants the very
   * one.
   */
  private static final String CONFIGURATION =
      """
      daemon off;
      worker_processes 1;
      worker_rlimit_nofile 20000;
      pid %DIRECTORY%/nginx.pid;
      error_log stderr crit;
      events {
        worker_connections %CONNECTIONS%;
      }
      http {
        access_log off;
        tcp_nopush on;
        keepalive_timeout 1h;
        keepalive_requests 1000000000;
        if_modified_since before;
        open_file_cache max=%FILES% inactive=1h;
        open_file_cache_valid 1h;
        client_body_temp_path %DIRECTORY%/body;
        proxy_temp_path %DIRECTORY%/proxy;
        fastcgi_temp_path %DIRECTORY%/fastcgi;
        uwsgi_temp_path %DIRECTORY%/uwsgi;
        scgi_temp_path %DIRECTORY%/scgi;
        proxy_cache_path %STORE% keys_zone=hit:8m max_size=%MIB%m inactive=1h use_temp_path=off;
        upstream origin {
          server 127.0.0.1:%ORIGIN%;
          keepalive 64;
          keepalive_requests 1000000000;
        }
        %EXTRA%
        server {
          listen %ADDRESS%:%PORT% backlog=1024;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_set_header Host $http_host;
          location / {
            sendfile on;
            proxy_pass http://origin;
            proxy_cache %CACHE%;
          }
          location = /hit/1024 {
            sendfile off;
            proxy_pass http://origin;
            proxy_cache %CACHE%;
          }
        }
      }
      """;

  /** Without it nginx asks the origin for everybody; its own limit of waiting is 5 s. */
  private static final String LOCK =
      "proxy_cache_lock on; proxy_cache_lock_age 1m; proxy_cache_lock_timeout 1m;";

  /** It compresses each answer anew: what it stores is what the origin sent. */
  private static final String GZIP =
      "gzip on; gzip_types text/plain; gzip_proxied any; gzip_vary on;";

  @Override
  public String name() {
    return "nginx";
  }

  @Override
  public String debianPackage() {
    return "nginx-light";
  }

  @Override
  public List<String> prepare(Path directory, Place place) throws IOException {
    Path file = directory.resolve("nginx.conf");
    String text =
        (user() + CONFIGURATION)
            .replace("%CACHE%", place.job().isStoring() ? "hit" : "off")
            .replace("%EXTRA%", extra(place.job()))
            .replace("%FILES%", place.job() == Job.MIX ? "20000" : "1000")
            .replace("%STORE%", directory.resolve("store").toString());
    Template.write(file, text, place);
    return List.of(path(), "-p", directory.toString(), "-c", file.toString());
  }

  private static String extra(Job job) {
    return switch (job) {
      case COLLAPSE -> LOCK;
      case CODED -> GZIP;
      case HIT, PASS, DISK, MIX -> "";
    };
  }

  /** As root, the worker must stay root to reach our directory. */
  private static String user() {
    return Template.isRoot() ? "user root;\n" : "";
  }
}
