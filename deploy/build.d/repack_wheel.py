"""Makes PyTorch's wheel from an installed PyTorch: repack_wheel.py SITE_PACKAGES FOLDER."""

import csv
import os
import sys
import zipfile


def repack(site_packages, folder):
    info = next(name for name in sorted(os.listdir(site_packages))
                if name.startswith("torch-") and name.endswith(".dist-info"))
    with open(os.path.join(site_packages, info, "WHEEL")) as file:
        tag = next(line.split()[1] for line in file if line.startswith("Tag:"))
    path = os.path.join(folder, f"{info[:-len('.dist-info')]}-{tag}.whl")
    with open(os.path.join(site_packages, info, "RECORD"), newline="") as file:
        rows = list(csv.reader(file))
    # An installer adds byte code, scripts, and its own notes.
    added = {f"{info}/{name}" for name in ("INSTALLER", "REQUESTED", "direct_url.json", "RECORD")}
    kept = [row for row in rows if not row[0].startswith("..") and not row[0].endswith(".pyc")
            and row[0] not in added]
    with zipfile.ZipFile(path + ".new", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        for name, *_ in kept:
            wheel.write(os.path.join(site_packages, name), name)
        record = "".join(",".join(row) + "\n" for row in kept) + f"{info}/RECORD,,\n"
        wheel.writestr(f"{info}/RECORD", record)
    os.replace(path + ".new", path)
    return path


if __name__ == "__main__":
    try:
        print(repack(*sys.argv[1:3]))
    except (OSError, StopIteration) as error:
        sys.exit(f"repack_wheel: cannot make a wheel of {sys.argv[1]}: {error}")
