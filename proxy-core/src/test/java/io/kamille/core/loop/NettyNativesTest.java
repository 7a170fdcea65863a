package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Properties;
import org.junit.jupiter.api.Test;

class NettyNativesTest {

  @Test
  void thisProcessHasOneVersionOfAllNativeParts() {
    assertThat(NettyNatives.mismatch(NettyNatives.versions())).isNull();
  }

  @Test
  void classesThatAreNewerThanTheirLibraryAreNamed() {
    Properties versions = NettyNatives.versions();
    versions.setProperty("netty-transport-native-unix-common.version", "9.9.9.Final");

    assertThat(NettyNatives.mismatch(versions))
        .contains("netty-transport-native-unix-common=9.9.9.Final")
        .contains("netty-transport-native-epoll=");
  }

  @Test
  void aMissingLibraryIsNamed() {
    Properties versions = NettyNatives.versions();
    versions.remove("netty-transport-native-epoll.version");

    assertThat(NettyNatives.mismatch(versions)).contains("netty-transport-native-epoll=missing");
  }
}
