package io.kamille.core.loop;

import io.netty.channel.epoll.Epoll;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.Collections;
import java.util.Properties;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The parts of Netty that have native methods, and the library that has their code. */
final class NettyNatives {

  /*
   * A class with a native method that its library lacks fails at the first call, in the middle of
   * an exchange. Netty's other parts may be newer, so the versions of these three alone must agree.
   */
  private static final String[] PARTS = {
    "netty-transport-classes-epoll",
    "netty-transport-native-epoll",
    "netty-transport-native-unix-common"
  };

  private static final String VERSIONS = "META-INF/io.netty.versions.properties";

  private NettyNatives() {}

  /**
   * Says why the library cannot be used.
   *
   * @param versions of Netty's artifacts, by name, with the suffix {@code .version}
   * @return a sentence, or null if all parts have one version
   */
  static @Nullable String mismatch(Properties versions) {
    var found = new TreeMap<String, String>();
    for (String part : PARTS) {
      found.put(part, versions.getProperty(part + ".version", "missing"));
    }
    boolean isOne = found.values().stream().distinct().count() == 1;
    return isOne ? null : "Netty's native parts differ: " + found + " (expected: one version)";
  }

  /** What the jars of this process say of themselves. */
  static Properties versions() {
    var versions = new Properties();
    try {
      for (URL each : Collections.list(Epoll.class.getClassLoader().getResources(VERSIONS))) {
        try (InputStream in = each.openStream()) {
          versions.load(in);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return versions;
  }
}
