package io.kamille.core.log;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/** The standard output of the process; it stays open. Confined to the writer. */
final class StandardOutput implements LogDestination {

  private final FileChannel channel = new FileOutputStream(FileDescriptor.out).getChannel();

  @Override
  public void write(ByteBuffer lines) throws IOException {
    while (lines.hasRemaining()) {
      channel.write(lines);
    }
  }

  @Override
  public void reopen() {}

  @Override
  public void close() {}
}
