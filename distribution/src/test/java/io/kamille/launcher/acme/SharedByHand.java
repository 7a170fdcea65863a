package io.kamille.launcher.acme;

import io.kamille.cluster.secret.SharedValues;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What nodes share without a network: what one puts, all have. One thread. */
final class SharedByHand {

  final Map<String, byte[]> values = new TreeMap<>();
  String leader = "a";
  boolean hasQuorum = true;

  SharedValues at(String node) {
    return new SharedValues() {
      @Override
      public boolean leads() {
        return node.equals(leader);
      }

      @Override
      public byte @Nullable [] get(String name) {
        return values.get(name);
      }

      @Override
      public Map<String, byte[]> under(String prefix) {
        Map<String, byte[]> found = new TreeMap<>(values);
        found.keySet().removeIf(name -> !name.startsWith(prefix));
        return found;
      }

      @Override
      public Map<String, Boolean> put(String name, byte @Nullable [] content) throws IOException {
        if (!hasQuorum) {
          throw new IOException("no majority");
        }
        if (content == null) {
          values.remove(name);
        } else {
          values.put(name, content);
        }
        return Map.of();
      }
    };
  }
}
