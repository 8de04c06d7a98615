// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;

/**
 * A new certificate for the loopback address and its key, as PEM files.
 *
 * @param certificate the file of the certificate
 * @param key the file of its key
 */
record SelfSignedCertificate(Path certificate, Path key) {

	private static final String PASSWORD = "changeit";

	/**
	 * Create a certificate.
	 * @param directory where to put the files
	 */
	static SelfSignedCertificate create(Path directory)
			throws IOException, InterruptedException, GeneralSecurityException {
		Path store = directory.resolve("store.p12");
		Process keytool = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
				"-J-XX:TieredStopAtLevel=1", "-genkeypair", "-alias", "redis", "-keyalg", "EC", "-groupname",
				"secp256r1", "-dname", "CN=localhost", "-ext", "SAN=dns:localhost,ip:127.0.0.1", "-storetype", "PKCS12",
				"-storepass", PASSWORD, "-keystore", store.toString())
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		if (keytool.waitFor() != 0) {
			throw new IOException("keytool ended with " + keytool.exitValue());
		}
		KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
		return new SelfSignedCertificate(
				write(directory.resolve("cert.pem"), "CERTIFICATE", keys.getCertificate("redis").getEncoded()),
				write(directory.resolve("key.pem"), "PRIVATE KEY",
						keys.getKey("redis", PASSWORD.toCharArray()).getEncoded()));
	}

	private static Path write(Path file, String type, byte[] content) throws IOException {
		String text = Base64.getMimeEncoder(64, new byte[] { '\n' }).encodeToString(content);
		return Files.writeString(file, "-----BEGIN " + type + "-----\n" + text + "\n-----END " + type + "-----\n");
	}

}
