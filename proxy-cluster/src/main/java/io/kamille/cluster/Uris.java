package io.kamille.cluster;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** URIs as nodes tell one another of them. */
final class Uris {

  private Uris() {}

  static byte[] octets(List<String> uris) {
    var octets = new ByteArrayOutputStream();
    try (var out = new DataOutputStream(octets)) {
      for (String uri : uris) {
        out.writeUTF(uri);
      }
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return octets.toByteArray();
  }

  static List<String> of(byte[] octets) throws IOException {
    List<String> uris = new ArrayList<>();
    try (var in = new DataInputStream(new ByteArrayInputStream(octets))) {
      while (in.available() > 0) {
        uris.add(in.readUTF());
      }
    }
    return uris;
  }
}
