// Run by itself: the package unpacks into the folder that TMPDIR names, and takes its own libraries along when it
// believes that it runs on AWS Lambda.
import chromium from '@sparticuz/chromium';

await chromium.executablePath();
